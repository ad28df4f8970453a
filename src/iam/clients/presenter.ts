import type { FeatureActivation } from '../features/schema.ts';
import { type Account, SERVICES, type ServiceName } from './schema.ts';
import type { AccountRow } from './store.ts';

/** What this platform offers; the other published services have features in the catalogue and nothing else. */
const OFFERED: readonly ServiceName[] = ['CLOUD', 'STREAMING'];

export function presentedAccount(
  row: AccountRow,
  currentUser: number,
  activations: FeatureActivation[],
): Account {
  return {
    id: row.id,
    email: row.email,
    name: row.name,
    status: 'active',
    companyName: row.company,
    currentUser,
    capabilities: [...OFFERED],
    serviceStatuses: perService((service) =>
      OFFERED.includes(service)
        ? { status: 'active' as const, enabled: true }
        : { status: 'new' as const, enabled: false },
    ),
    paidFeatures: perService((service) =>
      activations
        .filter(({ feature }) => !feature.is_free && feature.service === service)
        .map((activation) => ({ ...accountFeature(activation), paid_feature_id: activation.id })),
    ),
    freeFeatures: perService((service) =>
      activations
        .filter(({ feature }) => feature.is_free && feature.service === service)
        .map((activation) => ({ ...accountFeature(activation), free_feature_id: activation.id })),
    ),
    entryBaseDomain: null,
    signup_process: null,
    deleted: false,
    bill_type: 'common',
    is_test: false,
    has_active_admin: true,
  };
}

function accountFeature({ feature, created_date }: FeatureActivation) {
  return {
    feature_id: feature.id,
    service: feature.service,
    name: feature.name,
    create_date: created_date,
  };
}

function perService<T>(entry: (service: ServiceName) => T): Record<ServiceName, T> {
  return Object.fromEntries(SERVICES.map((service) => [service, entry(service)])) as Record<ServiceName, T>;
}
