import { type Static, Type } from 'typebox';
import { isoMicros } from '../../lib/time.ts';
import { Choice, IntegerId, Named, OptionalFlag, ReadOnly, Timestamp } from '../../lib/wire.ts';
import { SERVICE_STATUSES, SERVICES } from '../accounts/schema.ts';
import type { ServiceState } from './state.ts';

const Status = (description: string) => Choice(SERVICE_STATUSES, description);
const NoOptions = Type.Array(Type.Object({}), {
  maxItems: 0,
  description: 'Always empty: services have no options here.',
});

export const Service = Named('ClientService', {
  id: Type.Integer({ description: 'Service ID', examples: [12] }),
  name: Choice(SERVICES),
  client: Type.Integer({ description: 'Client ID', examples: [1] }),
  status: Status('`active` and `trial` let the account use the service; any other status refuses it'),
  previous_status: Status('The previous status'),
  status_changed_at: Timestamp('When the status was changed, or when the client was created if it never was'),
  start: Timestamp('When the client was created'),
  enabled: Type.Boolean({
    description: 'False: the account may not use the service, regardless of its status',
  }),
  options: NoOptions,
  status_transition_options: NoOptions,
});
export type Service = Static<typeof Service>;
export const ServiceArray = Type.Array(Service);

const changes = {
  status: Choice(['trial', 'trialend', 'active', 'paused'], { description: 'New status', examples: ['paused'] }),
  enabled: OptionalFlag({
    description: 'If left out, it follows from the status: true with `active` and `trial`',
    examples: [true],
  }),
  options: Type.Optional(NoOptions),
  status_transition_options: Type.Optional(NoOptions),
};
const example = { additionalProperties: false, examples: [{ status: 'active' }] };
export const UpdateService = Type.Object(changes, { title: 'UpdateClientService', ...example });

export const PatchService = Type.Object(
  {
    ...changes,
    status: Type.Optional(changes.status),
    id: ReadOnly,
    name: ReadOnly,
    client: ReadOnly,
    previous_status: ReadOnly,
    status_changed_at: ReadOnly,
    start: ReadOnly,
    deleted_date: ReadOnly,
  },
  { title: 'PatchClientService', ...example },
);
export type ServiceChanges = Static<typeof PatchService>;

export const ServiceParams = Type.Object({
  clientId: IntegerId('Client ID'),
  serviceId: IntegerId('Service ID'),
});

export function presentedService(state: ServiceState): Service {
  return {
    id: state.id,
    name: state.service,
    client: state.clientId,
    status: state.status,
    previous_status: state.previousStatus,
    status_changed_at: isoMicros(state.changedAt),
    start: isoMicros(state.startedAt),
    enabled: state.enabled,
    options: [],
    status_transition_options: [],
  };
}
