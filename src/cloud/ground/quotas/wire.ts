import type { Foundation } from '../../../foundation.ts';
import { createQuotaLists } from './lists/service.ts';
import { createLimitRequests } from './requests/service.ts';
import { createQuotas } from './service.ts';

export function wireQuotas(deps: Foundation) {
  return {
    quotas: createQuotas(deps),
    quotaLists: createQuotaLists(deps),
    limitRequests: createLimitRequests(deps),
  };
}
