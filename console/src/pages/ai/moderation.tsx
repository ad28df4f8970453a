import { useId, useState } from 'react';
import { Section } from '../../ui/page.tsx';
import { Table } from '../../ui/table.tsx';

/** What was found in a frame. Frames are numbered at the film’s own rate. */
export interface Frame {
  label: string;
  frame_number: number;
  confidence: number;
}

const WIDTH = 1_000;
const HEIGHT = 160;
const SHOWN = 200;
const percent = (share: number): string => `${Math.round(share * 100)} %`;

/** What was found and how surely, over the frames of the film. A slider tells what a stricter or looser limit would let through. */
export function Moderation({
  detected,
  frames,
  found,
}: {
  detected: boolean;
  frames: readonly Frame[];
  found: readonly string[];
}) {
  const id = useId();
  const [limit, setLimit] = useState(50);
  const above = frames.filter(({ confidence }) => confidence * 100 >= limit);
  return (
    <Section
      title="Frames"
      aside={
        <span className={`badge ${detected ? 'bad' : 'good'}`}>
          {detected ? found.join(', ') || 'found' : 'nothing found'}
        </span>
      }
    >
      {frames.length === 0 ? (
        <p className="empty">No frame has a finding.</p>
      ) : (
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
              {above.length} of {frames.length} findings are at {limit} % or more.
            </p>
          </div>
          <Timeline frames={frames} limit={limit} />
        </div>
      )}
      {frames.length > 0 && (
        <Table
          caption="Findings at or above the threshold, the surest first"
          read={{
            data: {
              count: above.length,
              results: above.toSorted((one, other) => other.confidence - one.confidence).slice(0, SHOWN),
            },
            error: null,
            refetch: () => undefined,
          }}
          keyOf={({ label, frame_number, confidence }) => `${frame_number} ${label} ${confidence}`}
          columns={[
            { name: 'Frame', number: true, show: ({ frame_number }) => frame_number },
            { name: 'What', show: ({ label }) => label },
            { name: 'How sure', number: true, show: ({ confidence }) => percent(confidence) },
          ]}
          empty={<p>Nothing is at or above the threshold.</p>}
        />
      )}
    </Section>
  );
}

function Timeline({ frames, limit }: { frames: readonly Frame[]; limit: number }) {
  const last = Math.max(1, ...frames.map(({ frame_number }) => frame_number));
  const y = HEIGHT - (limit / 100) * HEIGHT;
  return (
    <figure>
      <svg className="scores" viewBox={`-4 -4 ${WIDTH + 8} ${HEIGHT + 8}`} role="img">
        <title>How sure each finding is, by frame</title>
        <line className="axis" x1={0} x2={WIDTH} y1={HEIGHT} y2={HEIGHT} />
        {frames.map(({ label, frame_number, confidence }) => (
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
