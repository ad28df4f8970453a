import { Type } from 'typebox';
import type { MachineConsole } from '../../src/backends/contract/backend.ts';
import type { Api } from '../cloud/client.ts';

const PROTOCOLS: Readonly<Record<string, string>> = { novnc: 'vnc', 'spice-html5': 'spice', serial: 'serial' };
const Console = Type.Object({
  remote_console: Type.Object({ protocol: Type.String(), type: Type.String(), url: Type.String() }),
});

/** Returns a console at an address of the cloud's own, which lets its bearer in for some minutes. */
export async function consoleIn(api: Api, serverId: string, type = 'novnc'): Promise<MachineConsole | undefined> {
  const protocol = PROTOCOLS[type];
  if (protocol === undefined) return undefined;
  const remote_console = { protocol, type };
  const answer = await api.send('compute', 'POST', `/servers/${serverId}/remote-consoles`, { remote_console }, Console);
  return answer.remote_console;
}
