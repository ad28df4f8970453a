import type { User } from '../accounts/schema.ts';
import { OFFERED, SERVICES, type ServiceName } from '../accounts/schema.ts';
import type { AvailableService } from '../client-services/service.ts';
import type { FeatureActivation } from '../features/schema.ts';
import type { Account, Client } from './schema.ts';
import type { AccountRow } from './store.ts';

/** What other features know about an account. */
export interface OfAccount {
  activations: readonly FeatureActivation[];
  services: readonly AvailableService[];
}

export function presentedAccount(
  row: AccountRow,
  currentUser: number,
  { activations, services }: OfAccount,
  users?: User[],
): Account {
  const featuresOf = (service: ServiceName, free: boolean) =>
    activations.filter(({ feature }) => feature.is_free === free && feature.service === service);
  return {
    id: row.id,
    email: row.email,
    name: row.name,
    status: row.status,
    companyName: row.company,
    currentUser,
    capabilities: OFFERED.filter((name) => services.some((one) => one.service === name && one.available)),
    serviceStatuses: perService((service) => {
      const state = services.find((one) => one.service === service);
      return { status: state?.status ?? 'new', enabled: state?.enabled ?? false };
    }),
    paidFeatures: perService((service) =>
      featuresOf(service, false).map((one) => ({ ...accountFeature(one), paid_feature_id: one.id })),
    ),
    freeFeatures: perService((service) =>
      featuresOf(service, true).map((one) => ({ ...accountFeature(one), free_feature_id: one.id })),
    ),
    entryBaseDomain: null,
    signup_process: null,
    deleted: row.deleted_at !== null,
    bill_type: 'common',
    is_test: row.is_test,
    has_active_admin: row.has_active_admin,
    phone: row.phone,
    website: null,
    custom_id: row.custom_id,
    country_code: row.country_code,
    ...(users && { users }),
  };
}

/** An account as its reseller sees it. */
export function presentedClient(
  row: AccountRow,
  currentUser: number,
  known: OfAccount,
  users?: User[],
): Client {
  return {
    ...presentedAccount(row, currentUser, known, users),
    seller: row.seller_id,
    resellers: row.reseller_id,
    client_type: row.of_reseller ? 'reseller' : 'common',
    owner: row.owner_id,
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
