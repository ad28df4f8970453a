import { useEffect, useId, useRef, useState } from 'react';
import { ApiError, parsed } from '../../lib/api.ts';
import * as hub from '../../lib/hub.ts';
import { Copy } from '../../ui/copy.tsx';
import { Fault } from '../../ui/fault.tsx';

/** A subtitle, with times such as 00:01:02.345. */
export interface Phrase {
  start_time: string;
  end_time: string;
  text: string;
}

const secondsOf = (time: string): number => time.split(':').reduce((sum, part) => sum * 60 + Number(part), 0);

/** What was said and when. With a copy of the file, it is played with its subtitles, and a phrase leads to where it is said. */
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
  const [file, setFile] = useState<File>();
  const [at, setAt] = useState<number>();
  const current = phrases.findIndex(
    ({ start_time, end_time }) => at !== undefined && at >= secondsOf(start_time) && at < secondsOf(end_time),
  );

  function seek(seconds: number) {
    if (!player.current) return;
    player.current.currentTime = seconds;
    setAt(seconds);
  }

  return (
    <div className="beside">
      <section className="card" aria-labelledby="transcript">
        <header>
          <h2 id="transcript">Transcript</h2>
          {languages.length > 0 && <span className="muted">{languages.join(', ')}</span>}
          <div className="row">
            <Copy text={phrases.map(({ text }) => text).join('\n')} label="Copy the text" />
            <Subtitles taskId={taskId} />
          </div>
        </header>
        {phrases.length === 0 && <p className="empty">No speech was found.</p>}
        <ol className="lines phrases">
          {phrases.map(({ start_time, text }, index) => (
            <li key={start_time} aria-current={index === current ? 'time' : undefined}>
              <button
                type="button"
                className="button quiet"
                disabled={file === undefined}
                title={file === undefined ? 'Choose the file to play it from here' : undefined}
                aria-label={`Play from ${start_time}`}
                onClick={() => seek(secondsOf(start_time))}
              >
                <span className="mono">{start_time}</span>
              </button>
              <span>{text}</span>
            </li>
          ))}
        </ol>
      </section>
      <section className="card" aria-labelledby="player">
        <header>
          <h2 id="player">Player</h2>
        </header>
        <div className="inside page">
          <ChooseFile url={url} onChoose={setFile} />
          {file && <Player file={file} vtt={vtt} player={player} onTime={setAt} />}
        </div>
      </section>
    </div>
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
        The server keeps no media, and this page asks nothing of {hostOf(url)}, where the file is. So choose a copy to
        play it with its subtitles. It stays in your browser.
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
  file,
  vtt,
  player,
  onTime,
}: {
  file: File;
  vtt: string;
  player: React.RefObject<HTMLVideoElement | null>;
  onTime: (seconds: number) => void;
}) {
  const media = useBlobAddress(file);
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
        src={media}
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

/** Fetches the subtitles with the person's rights, which a plain link would not have. */
function Subtitles({ taskId }: { taskId: string }) {
  const [refused, setRefused] = useState<Error>();
  async function save() {
    setRefused(undefined);
    try {
      const path = `/streaming/ai/tasks/${taskId}/subtitles.vtt`;
      const { status, headers, body } = await hub.call({ method: 'GET', path });
      if (status === 200 && body) keep(body);
      else setRefused(new ApiError(status, parsed((await body?.text()) ?? ''), headers['x-request-id']));
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
