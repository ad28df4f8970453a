import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { ApiCommand } from '../api/api-command.ts';
import { parametersOf } from '../api/naming.ts';
import { commandOf } from '../api/run.ts';
import type { ClientCommand, Context } from '../command.ts';
import { UnavailableError } from '../errors.ts';

const described: ApiCommand = {
  name: 'instance console attach',
  operation: 'getInstanceConsole',
  summary: 'Show the console of an instance here, and type into it',
  help: 'Ctrl-] leaves it. Where the infrastructure has its own page for consoles, this prints its address.',
};
export const consoles: readonly ClientCommand[] = [Object.assign(commandOf(described), { run: attach })];

/** Ctrl-], as in telnet and virsh. */
const LEAVES = 0x1d;
const NORMAL = 1000;

async function attach(context: Context): Promise<void> {
  const { api, output, terminal } = context;
  const answer = await api.call('getInstanceConsole', { parameters: await parametersOf(described, context) });
  const { url } = (answer as { remote_console: { url: string } }).remote_console;
  if (!/^wss?:/.test(url)) return output.thing(url);
  output.note('Ctrl-] leaves the console.');
  const socket = new WebSocket(url);
  socket.on('message', (data: Buffer) => terminal.out(data));
  socket.on('error', (error) => output.note(error.message));
  const leave = () => socket.close(NORMAL);
  terminal.stop.addEventListener('abort', leave, { once: true });
  const still = terminal.keys((typed) => {
    const end = typed.indexOf(LEAVES);
    if (socket.readyState === WebSocket.OPEN) socket.send(end === -1 ? typed : typed.subarray(0, end));
    if (end !== -1) leave();
  });
  try {
    const [code, reason] = (await once(socket, 'close')) as [number, Buffer];
    if (reason.length > 0) output.note(String(reason));
    if (code !== NORMAL && code !== 1005) throw new UnavailableError('The console was cut off');
  } finally {
    still();
    terminal.stop.removeEventListener('abort', leave);
  }
}
