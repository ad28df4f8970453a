import type { Generated, GeneratedAlways, JSONColumnType } from 'kysely';
import type { DdosField } from '../../../lib/ddos-profile.ts';

export interface DdosTables {
  /** Profiles of DDoS protection, each of one address. */
  ddos_profiles: {
    id: GeneratedAlways<number>;
    /** The ID by which the infrastructure knows it. */
    want_id: string;
    project_id: number;
    region_id: number;
    subnet_id: string;
    address: string;
    template_id: number;
    fields: JSONColumnType<DdosField[]>;
    active: boolean;
    bgp: boolean;
    status: string;
    error_description: Generated<string>;
    /** The task that holds the profile. */
    task_id: string | null;
  };
}
