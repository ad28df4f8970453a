import type { Foundation } from '../../../foundation.ts';
import { NO_HOSTS } from '../../../lib/allowed-hosts.ts';
import { createUserActions } from './service.ts';
import { createSubscriptions } from './subscriptions/service.ts';

export function wireUserActions(foundation: Foundation) {
  const { webhookHosts = NO_HOSTS } = foundation;
  return {
    userActions: createUserActions(foundation),
    subscriptions: createSubscriptions({ ...foundation, webhookHosts }),
  };
}
