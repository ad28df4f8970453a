import { ApiError } from '../lib/api.ts';
import { Copy } from './copy.tsx';

/** Says what went wrong, in the words of the server, with what support asks for. */
export function Fault({ error: thrown, again }: { error: object; again?: (() => unknown) | undefined }) {
  // The types of queries say what the document says of refusals; what is thrown is an error that has it.
  const error = thrown as Error;
  const requestId = error instanceof ApiError ? error.requestId : undefined;
  return (
    <div className="note bad" role="alert">
      <p>{error.message}</p>
      <div className="row">
        {requestId && (
          <span className="muted">
            Request <code>{requestId}</code> <Copy text={requestId} label="Copy the request ID" />
          </span>
        )}
        {again && (
          <button type="button" className="button" onClick={() => again()}>
            Try again
          </button>
        )}
      </div>
    </div>
  );
}

/** Stands where something will be shown once it has been read. */
export function Unread({ error, again }: { error?: object | null | undefined; again?: (() => unknown) | undefined }) {
  return error ? <Fault error={error} again={again} /> : <p className="muted">Reading …</p>;
}
