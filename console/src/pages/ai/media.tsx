import { useEffect, useId, useRef, useState } from 'react';
import * as api from '../../lib/api.ts';
import { Action } from '../../ui/action.tsx';
import { Fault } from '../../ui/fault.tsx';

/** A page keeps the file in the memory of the browser. */
const MOST_BYTES = 500_000_000;
const megabytes = (bytes: number): string => (bytes / 1_000_000).toFixed(1);

/** The file of a task: the server fetches it once more, or the person has a copy. */
export function MediaFile({
  taskId,
  url,
  accept,
  onFile,
}: {
  taskId: string;
  url: string;
  /** Kinds of copies. */
  accept: string;
  onFile: (media: Blob | undefined) => void;
}) {
  const [chosen, setChosen] = useState(0);
  function choose(file: File | undefined) {
    // What is still being fetched doesn’t take its place.
    setChosen(chosen + 1);
    onFile(file);
  }
  return (
    <>
      <FetchFile key={chosen} taskId={taskId} onFetched={onFile} />
      <ChooseFile url={url} accept={accept} onChoose={choose} />
    </>
  );
}

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

function ChooseFile({
  url,
  accept,
  onChoose,
}: {
  url: string;
  accept: string;
  onChoose: (file: File | undefined) => void;
}) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>Your copy of the file</label>
      <input
        id={id}
        type="file"
        accept={accept}
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

/** An address in this browser for a file or text; undefined until it is made. */
export function useBlobAddress(of: Blob | string | undefined, type?: string): string | undefined {
  const [address, setAddress] = useState<string>();
  useEffect(() => {
    if (of === undefined) return setAddress(undefined);
    const made = URL.createObjectURL(typeof of === 'string' ? new Blob([of], type ? { type } : {}) : of);
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [of, type]);
  return address;
}
