import { type KeyboardEvent, memo, useCallback, useRef, useState } from 'react';
import * as api from '../../lib/api.ts';
import { Copy } from '../../ui/copy.tsx';
import { keep } from '../../ui/export.tsx';
import { Fault } from '../../ui/fault.tsx';
import { Section } from '../../ui/page.tsx';
import { MediaFile, useBlobAddress } from './media.tsx';

/** A subtitle, with times such as 00:01:02.345. */
export interface Phrase {
  start_time: string;
  end_time: string;
  text: string;
}

const secondsOf = (time: string): number => time.split(':').reduce((sum, part) => sum * 60 + Number(part), 0);

/** What was said and when. With its file, it is played with its subtitles, and a phrase or word leads to where it is said. */
export function Transcript({
  taskId,
  url,
  phrases,
  vtt,
  languages,
}: {
  taskId: string;
  url: string;
  phrases: readonly Phrase[];
  vtt: string;
  languages: readonly string[];
}) {
  const player = useRef<HTMLVideoElement>(null);
  const [media, setMedia] = useState<Blob>();
  const [at, setAt] = useState<number>();
  const current = phrases.findIndex(
    ({ start_time, end_time }) => at !== undefined && at >= secondsOf(start_time) && at < secondsOf(end_time),
  );

  const seek = useCallback((seconds: number) => {
    if (!player.current) return;
    player.current.currentTime = seconds;
    setAt(seconds);
  }, []);

  return (
    <div className="beside">
      <Section
        title="Transcript"
        aside={
          <>
            {languages.length > 0 && <span className="muted">{languages.join(', ')}</span>}
            <div className="row">
              <Copy text={phrases.map(({ text }) => text).join('\n')} label="Copy the text" />
              <Subtitles taskId={taskId} />
            </div>
          </>
        }
      >
        {phrases.length === 0 && <p className="empty">No speech was found.</p>}
        <ol className="lines phrases">
          {phrases.map((phrase, index) => (
            <Said
              key={phrase.start_time}
              phrase={phrase}
              isCurrent={index === current}
              onSeek={media === undefined ? undefined : seek}
            />
          ))}
        </ol>
      </Section>
      <Section title="Player">
        <div className="inside page">
          <MediaFile taskId={taskId} url={url} accept="audio/*,video/*" onFile={setMedia} />
          {media && <Player media={media} vtt={vtt} player={player} onTime={setAt} />}
        </div>
      </Section>
    </div>
  );
}

/** A phrase is one stop for the Tab key: arrows lead from its time to its words. Its words are taken to be said evenly. */
const Said = memo(function Said({
  phrase: { start_time, end_time, text },
  isCurrent,
  onSeek,
}: {
  phrase: Phrase;
  isCurrent: boolean;
  onSeek: ((seconds: number) => void) | undefined;
}) {
  const [stop, setStop] = useState(0);
  const words = text.split(/\s+/);
  const start = secondsOf(start_time);
  const each = (secondsOf(end_time) - start) / words.length;
  const propsOf = (index: number) => ({
    type: 'button' as const,
    tabIndex: index === stop ? 0 : -1,
    onFocus: () => setStop(index),
    onClick: () => onSeek?.(start + Math.max(0, index - 1) * each),
  });

  function move(event: KeyboardEvent<HTMLElement>) {
    const stops = [...event.currentTarget.querySelectorAll('button')];
    const to = { ArrowRight: stop + 1, ArrowLeft: stop - 1, Home: 0, End: words.length }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    stops[to]?.focus();
  }

  return (
    <li aria-current={isCurrent ? 'time' : undefined} onKeyDown={onSeek && move}>
      <button
        {...propsOf(0)}
        className="button quiet"
        disabled={!onSeek}
        title={onSeek ? 'Arrow keys lead to the words' : 'Fetch or choose the file to play it from here'}
        aria-label={`Play from ${start_time}`}
      >
        <span className="mono">{start_time}</span>
      </button>
      <span>
        {onSeek
          ? words.map((word, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: words come twice, and never move
              <span key={index}>
                <button {...propsOf(index + 1)} className="word">
                  {word}
                </button>{' '}
              </span>
            ))
          : text}
      </span>
    </li>
  );
});

function Player({
  media,
  vtt,
  player,
  onTime,
}: {
  media: Blob;
  vtt: string;
  player: React.RefObject<HTMLVideoElement | null>;
  onTime: (seconds: number) => void;
}) {
  const address = useBlobAddress(media);
  const track = useBlobAddress(vtt, 'text/vtt');
  const [fault, setFault] = useState(false);
  return (
    <>
      {fault && (
        <p className="note bad" role="alert">
          This browser can’t play the file.
        </p>
      )}
      <video
        ref={player}
        className="player"
        controls
        src={address}
        aria-label="The file with its subtitles"
        onTimeUpdate={({ currentTarget }) => onTime(currentTarget.currentTime)}
        onError={() => setFault(true)}
        onLoadedData={() => setFault(false)}
      >
        <track default kind="captions" label="Subtitles" src={track} />
      </video>
    </>
  );
}

function Subtitles({ taskId }: { taskId: string }) {
  const [refused, setRefused] = useState<Error>();
  async function save() {
    setRefused(undefined);
    try {
      keep(await api.file(`/streaming/ai/tasks/${taskId}/subtitles.vtt`), `${taskId}.vtt`);
    } catch (error) {
      setRefused(error as Error);
    }
  }
  return (
    <>
      <button type="button" className="button" onClick={() => void save()}>
        Save the subtitles
      </button>
      {refused && <Fault error={refused} />}
    </>
  );
}
