import { isoMicros } from '../../lib/timestamps.ts';
import type { Service } from './schema.ts';
import type { ServiceState } from './state.ts';

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
