import type { Generated } from 'kysely';
import type { ResourceType } from '../../lib/action-resource.ts';
import type { ActionType, ApiGroup } from './published-names.ts';

export type Outcome = 'accepted' | 'refused' | 'failed';

export interface UserActionTables {
  /** Every request that was to change something. Those with a group are in the published log. */
  user_actions: {
    id: Generated<number>;
    client_id: number;
    user_id: number;
    token_id: number | null;
    request_id: string;
    operation: string;
    method: string;
    path: string;
    project_id: number | null;
    region_id: number | null;
    task_id: string | null;
    source_user_ip: string;
    user_agent: string | null;
    outcome: Outcome;
    status: number;
    timestamp: Date;
    api_group: ApiGroup | null;
    action_type: ActionType | null;
    /** What it was about, the most important first: three lists of one length. */
    resource_types: ResourceType[] | null;
    resource_ids: string[] | null;
    resource_names: (string | null)[] | null;
    acknowledged: Generated<boolean>;
  };
  /** Where an account's actions are sent to. */
  user_action_subscriptions: {
    id: Generated<number>;
    client_id: number;
    url: string;
    auth_header_name: string;
    auth_header_value: string;
    /** Failed attempts since the last that went well. */
    failures: Generated<number>;
    /** When somebody looks next whether there is something to send. */
    due_at: Date;
    /** Nothing from before is left to send. */
    sent_until: Date;
    created_at: Date;
  };
}
