import type { Generated } from 'kysely';

export interface NotificationTables {
  notification_settings: {
    id: Generated<number>;
    reseller_id: number;
    notification_type: 'deletion_request' | 'failed_login';
    email: string;
    enabled: boolean;
    created_at: Date;
  };
}
