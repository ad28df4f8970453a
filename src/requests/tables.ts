import type { Generated } from 'kysely';
import type { ResourceType } from '../lib/resources.ts';
import type { ActionType, ApiGroup } from './published-names.ts';

export type Outcome = 'accepted' | 'refused' | 'failed';
/** What else is recorded besides requests for a change: commands of the operator, and refused credentials and rights. */
export type Origin = 'command' | 'refusal';

export interface RequestTables {
  idempotency_keys: {
    client_id: number;
    user_id: number;
    key: string;
    fingerprint: Buffer;
    request_id: string;
    status: number | null;
    body: string | null;
    expires_at: Date;
  };
  /**
   * Who did what, or tried to. Requests for a change have no origin; those with a group are in the published log.
   * Commands have the user 0, and credentials that nobody knows the client 0.
   */
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
    /** The resources that it was about, the most important first: three lists of the same length. */
    resource_types: ResourceType[] | null;
    resource_ids: string[] | null;
    resource_names: (string | null)[] | null;
    acknowledged: Generated<boolean>;
    /** The event that tells of it, and what that is about. */
    event_type: string | null;
    subject: string | null;
    origin: Origin | null;
    /** Why credentials were refused. */
    reason: string | null;
    /** How often, if one row stands for all. */
    attempts: number | null;
  };
}
