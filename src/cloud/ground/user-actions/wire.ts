import type { Foundation } from '../../../foundation.ts';
import { NO_HOSTS } from '../../../lib/allowed-hosts.ts';
import type { ActionLog } from '../../../requests/action-log.ts';
import { createUserActions } from './service.ts';
import { createSubscriptions } from './subscriptions/service.ts';

export function wireUserActions(foundation: Foundation & { actionLog: ActionLog }) {
  const { webhookHosts = NO_HOSTS } = foundation;
  return {
    userActions: createUserActions(foundation),
    subscriptions: createSubscriptions({ ...foundation, webhookHosts }),
  };
}
