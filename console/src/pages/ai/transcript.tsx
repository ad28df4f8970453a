import { type KeyboardEvent, memo, useCallback, useEffect, useId, useRef, useState } from 'react';
import * as api from '../../lib/api.ts';
import { Action } from '../../ui/action.tsx';
import { Copy } from '../../ui/copy.tsx';
import { Fault } from '../../ui/fault.tsx';
import { Section } from '../../ui/page.tsx';

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
          <FetchFile taskId={taskId} onFetched={setMedia} />
          <ChooseFile url={url} onChoose={setMedia} />
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

/** A page keeps the file in the memory of the browser. */
const MOST_BYTES = 500_000_000;
const megabytes = (bytes: number): string => (bytes / 1_000_000).toFixed(1);

function FetchFile({ taskId, onFetched }: { taskId: string; onFetched: (media: Blob) => void }) {
  const [progress, setProgress] = useState<{ bytes: number; of: number | undefined }>();
  const [refused, setRefused] = useState<Error>();
  const fetching = useRef<AbortController>(undefined);
  useEffect(() => () => fetching.current?.abort(), []);

  async function fetchFile() {
    const controller = new AbortController();
    fetching.current = controller;
    const { signal } = controller;
    setRefused(undefined);
    setProgress({ bytes: 0, of: undefined });
    try {
      const path = `/tradewind/v1/ai-tasks/${taskId}/media`;
      onFetched(await api.file(path, {}, { most: MOST_BYTES, signal, onProgress: setProgress }));
    } catch (error) {
      if (!signal.aborted) setRefused(error as Error);
    }
    setProgress(undefined);
  }

  if (progress)
    return (
      <div className="row">
        <progress aria-label="Fetched" max={progress.of} value={progress.of && progress.bytes} />
        <span>
          {megabytes(progress.bytes)} {progress.of ? `of ${megabytes(progress.of)} MB` : 'MB'}
        </span>
        <button type="button" className="button" onClick={() => fetching.current?.abort()}>
          Stop
        </button>
      </div>
    );
  return (
    <>
      <div className="row">
        <Action operation="getAiTaskMedia" tone="primary" onClick={() => void fetchFile()}>
          Fetch the file
        </Action>
      </div>
      {refused && (
        <>
          <Fault error={refused} />
          <p>If you have a copy of the file, choose it instead.</p>
        </>
      )}
    </>
  );
}

function ChooseFile({ url, onChoose }: { url: string; onChoose: (file: File | undefined) => void }) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>Your copy of the file</label>
      <input
        id={id}
        type="file"
        accept="audio/*,video/*"
        aria-describedby={`${id}-help`}
        onChange={({ target }) => onChoose(target.files?.[0])}
      />
      <p id={`${id}-help`} className="help">
        The server keeps no media. It can fetch the file from {hostOf(url)} once more; this page asks nothing of other
        servers. A copy stays in your browser.
      </p>
    </div>
  );
}

function hostOf(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return 'the server';
  }
}

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

/** An address in this browser for a file or text; undefined until it is made. */
function useBlobAddress(of: Blob | string, type?: string): string | undefined {
  const [address, setAddress] = useState<string>();
  useEffect(() => {
    const made = URL.createObjectURL(typeof of === 'string' ? new Blob([of], type ? { type } : {}) : of);
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [of, type]);
  return address;
}

function Subtitles({ taskId }: { taskId: string }) {
  const [refused, setRefused] = useState<Error>();
  async function save() {
    setRefused(undefined);
    try {
      keep(await api.file(`/streaming/ai/tasks/${taskId}/subtitles.vtt`));
    } catch (error) {
      setRefused(error as Error);
    }
  }
  function keep(body: Blob) {
    const address = URL.createObjectURL(body);
    const link = document.createElement('a');
    link.href = address;
    link.download = `${taskId}.vtt`;
    link.click();
    URL.revokeObjectURL(address);
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
