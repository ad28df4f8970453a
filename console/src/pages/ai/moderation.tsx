import { useId, useMemo, useState } from 'react';
import { Section } from '../../ui/page.tsx';
import { Table } from '../../ui/table.tsx';
import { MediaFile, useBlobAddress } from './media.tsx';
import { type Finding, Pictures, percent, timeOf } from './pictures.tsx';

const WIDTH = 1_000;
const HEIGHT = 160;
const SHOWN = 200;

/** What was found and how surely, over the frames of the film. A slider tells what a stricter or looser limit would let through. */
export function Moderation({
  taskId,
  url,
  rate,
  detected,
  findings,
  labels,
}: {
  taskId: string;
  url: string;
  /** Of the film, in frames a second. */
  rate: number | undefined;
  detected: boolean;
  findings: readonly Finding[];
  labels: readonly string[];
}) {
  const id = useId();
  const [limit, setLimit] = useState(50);
  const [media, setMedia] = useState<Blob>();
  const address = useBlobAddress(media);
  const above = useMemo(
    () =>
      findings
        .filter(({ confidence }) => confidence * 100 >= limit)
        .toSorted((one, other) => other.confidence - one.confidence),
    [findings, limit],
  );
  const table = (
    <Table
      caption="Findings at or above the threshold, the surest first"
      read={{ data: above.slice(0, SHOWN) }}
      keyOf={({ label, frame_number, confidence }) => `${frame_number} ${label} ${confidence}`}
      columns={[
        { name: 'Frame', number: true, show: ({ frame_number }) => frame_number },
        ...(rate ? [{ name: 'At', show: ({ frame_number }: Finding) => timeOf(frame_number, rate) }] : []),
        { name: 'What', show: ({ label }) => label },
        { name: 'How sure', number: true, show: ({ confidence }) => percent(confidence) },
      ]}
      empty={<p>Nothing is at or above the threshold.</p>}
    />
  );
  return (
    <Section
      title="Frames"
      aside={
        <span className={`badge ${detected ? 'bad' : 'good'}`}>
          {detected ? labels.join(', ') || 'found' : 'nothing found'}
        </span>
      }
    >
      {findings.length === 0 ? (
        <p className="empty">No frame has a finding.</p>
      ) : (
        <>
          <div className="inside page">
            <div className="field">
              <label htmlFor={id}>Threshold</label>
              <input
                id={id}
                type="range"
                min={0}
                max={100}
                value={limit}
                aria-valuetext={`${limit} %`}
                onChange={({ target }) => setLimit(Number(target.value))}
              />
              <p className="help" role="status">
                {above.length} of {findings.length} findings are at {limit} % or more.
              </p>
            </div>
            <Timeline findings={findings} limit={limit} />
            {rate ? (
              <MediaFile taskId={taskId} url={url} accept="video/*,image/*" onFile={setMedia} />
            ) : (
              <p className="muted">Its frames can’t be shown: the rate of the film was not kept.</p>
            )}
          </div>
          {rate && address ? (
            <Pictures key={address} address={address} rate={rate} findings={above}>
              {table}
            </Pictures>
          ) : (
            table
          )}
        </>
      )}
    </Section>
  );
}

function Timeline({ findings, limit }: { findings: readonly Finding[]; limit: number }) {
  const last = Math.max(1, ...findings.map(({ frame_number }) => frame_number));
  const y = HEIGHT - (limit / 100) * HEIGHT;
  return (
    <figure>
      <svg className="scores" viewBox={`-4 -4 ${WIDTH + 8} ${HEIGHT + 8}`} role="img">
        <title>How sure each finding is, by frame</title>
        <line className="axis" x1={0} x2={WIDTH} y1={HEIGHT} y2={HEIGHT} />
        {findings.map(({ label, frame_number, confidence }) => (
          <line
            key={`${frame_number} ${label} ${confidence}`}
            className={confidence * 100 >= limit ? 'above' : 'below'}
            x1={(frame_number / last) * WIDTH}
            x2={(frame_number / last) * WIDTH}
            y1={HEIGHT}
            y2={HEIGHT - confidence * HEIGHT}
          />
        ))}
        <line className="limit" x1={0} x2={WIDTH} y1={y} y2={y} />
      </svg>
      <figcaption className="muted">
        Each bar is a finding, from frame 0 to {last}; the higher, the surer. The line is the threshold.
      </figcaption>
    </figure>
  );
}
