import { type Static, Type } from 'typebox';
import type { Api } from '../cloud/client.ts';

const Nullable = Type.Union([Type.String(), Type.Null()]);

/** What we read of a server, as Nova shows it from microversion 2.79 on. */
export const Server = Type.Object({
  id: Type.String(),
  name: Type.String(),
  /** Such as ACTIVE, SHUTOFF or ERROR. */
  status: Type.String(),
  'OS-EXT-STS:task_state': Nullable,
  created: Type.String(),
  /** By network: the hardware addresses of its ports. */
  addresses: Type.Record(Type.String(), Type.Array(Type.Object({ 'OS-EXT-IPS-MAC:mac_addr': Type.String() }))),
  flavor: Type.Object({ original_name: Type.String() }),
  metadata: Type.Record(Type.String(), Type.String()),
  server_groups: Type.Optional(Type.Array(Type.String())),
  'os-extended-volumes:volumes_attached': Type.Array(Type.Object({ id: Type.String() })),
  fault: Type.Optional(Type.Object({ message: Type.String() })),
  /** Shown only to those who may see it. */
  host_status: Type.Optional(Type.String()),
});
export type Server = Static<typeof Server>;

/** Orders an action, which Nova begins and tells of by the state of the server. */
export async function act(api: Api, { id }: Pick<Server, 'id'>, body: object): Promise<void> {
  await api.send('compute', 'POST', `/servers/${id}/action`, body);
}
