import { useEffect, useRef, useState } from 'react';
import { type ApiError, send } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { type Place, pathOf, usePlace } from '../../lib/place.ts';
import { Action } from '../../ui/action.tsx';
import { AsCode } from '../../ui/as-code.tsx';
import { Fault } from '../../ui/fault.tsx';
import { TextField } from '../../ui/field.tsx';
import { Section } from '../../ui/page.tsx';

const MOST_KEPT = 100_000;
/** Leaves out what sets colours, the cursor and titles. */
const plain = (came: string): string =>
  came
    .split('\x1b')
    .map((part, at) => {
      if (at === 0) return part;
      return part.startsWith(']') ? part.slice(part.indexOf('\x07') + 1) : part.replace(/^(\[[0-?]*[ -/]*)?[@-~]/, '');
    })
    .join('');

/** Adds what a machine printed. Emulators of terminals make style elements, which our policy forbids. */
function printed(before: string, came: string): string {
  let text = before;
  for (const [at, part] of plain(came).split('\b \b').entries()) {
    if (at > 0) text = text.slice(0, -1);
    text += part.replaceAll(/(?!\n)\p{Cc}/gu, '');
  }
  return text.slice(-MOST_KEPT);
}

/** The console of an instance: what it prints, and a line to type into it. */
export function MachineConsole({ id, state }: { id: string; state: string }) {
  const place = usePlace() as Place;
  const [text, setText] = useState('');
  const [line, setLine] = useState('');
  const [socket, setSocket] = useState<WebSocket>();
  const [elsewhere, setElsewhere] = useState<string>();
  const [ended, setEnded] = useState<string>();
  const [error, setError] = useState<ApiError>();
  const screen = useRef<HTMLPreElement>(null);
  const call = callOf('get', '/cloud/v1/instances/{project_id}/{region_id}/{instance_id}/get_console', {
    params: { path: { ...pathOf(place), instance_id: id } },
  });

  useEffect(() => () => socket?.close(), [socket]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the end is in sight whenever something was printed.
  useEffect(() => {
    if (screen.current) screen.current.scrollTop = screen.current.scrollHeight;
  }, [text]);

  async function open() {
    for (const clear of [setError, setEnded, setElsewhere]) clear(undefined);
    setText('');
    try {
      const { remote_console } = (await send(call)) as { remote_console: { url: string } };
      const url = new URL(remote_console.url);
      if (/^https?:$/.test(url.protocol)) setElsewhere(url.href);
      else {
        // TLS may end at a proxy that the server knows nothing of.
        if (url.host === location.host) url.protocol = location.protocol.replace('http', 'ws');
        setSocket(connected(url.href));
      }
    } catch (thrown) {
      setError(thrown as ApiError);
    }
  }

  function connected(url: string): WebSocket {
    const made = new WebSocket(url);
    const decoder = new TextDecoder();
    made.binaryType = 'arraybuffer';
    made.onmessage = ({ data }) =>
      setText((before) => printed(before, typeof data === 'string' ? data : decoder.decode(data, { stream: true })));
    made.onclose = ({ reason }) => {
      setSocket(undefined);
      setEnded(reason || 'The connection has ended');
    };
    return made;
  }

  return (
    <Section title="Console">
      <div className="inside page">
        {error && <Fault error={error} />}
        <div className="row">
          {socket ? (
            <button type="button" className="button" onClick={() => socket.close()}>
              Disconnect
            </button>
          ) : (
            <Action
              operation="getInstanceConsole"
              tone="primary"
              disabled={state === 'active' ? undefined : 'The instance does not run'}
              onClick={() => void open()}
            >
              Connect
            </Action>
          )}
          <AsCode calls={[call]} />
        </div>
        {elsewhere && (
          <p>
            <a href={elsewhere} target="_blank" rel="noreferrer">
              Open the console of the infrastructure
            </a>
          </p>
        )}
        {(socket || text !== '') && (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keyboard.
          <pre ref={screen} className="code screen" role="log" aria-label="Console" tabIndex={0}>
            {text}
          </pre>
        )}
        {ended && <p role="status">{ended}</p>}
        {socket && (
          <form
            className="row"
            onSubmit={(event) => {
              event.preventDefault();
              if (socket.readyState === WebSocket.OPEN) socket.send(`${line}\r`);
              setLine('');
            }}
          >
            <TextField label="Type into the console" value={line} onChange={setLine} />
            <button type="submit" className="button">
              Enter
            </button>
          </form>
        )}
        <p className="muted">It lets you type into the machine. The audit log records who opens it.</p>
      </div>
    </Section>
  );
}
