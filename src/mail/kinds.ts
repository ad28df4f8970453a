/** Every kind of mail, with what its templates are given besides what all are given: `reseller`, `company` and `link`. */
export interface MailData {
  invitation: { token: string; expires: string };
  password_reset: { token: string; expires: string };
  new_login: { address: string; program: string; time: string };
  failed_login: { user: string; address: string; time: string; setting: string; key: string };
  second_factor: { event: 'added' | 'removed' | 'reset' | 'new_codes'; factor: string; time: string };
  deletion_request: {
    event: 'requested' | 'confirmed' | 'withdrawn';
    user: string;
    reason: string;
    time: string;
    setting: string;
    key: string;
  };
  deletion_confirmation: { token: string; expires: string };
  webhook_disabled: { webhook: string; host: string; reason: 'failing' | 'gone' };
  invoice: { invoice: string; number: string; month: string; amount: string; currency: string };
  quota_nearly_used: { quota: string; region: string; used: string; limit: string; percentage: string };
}
export type MailKind = keyof MailData;

interface Kind<Data> {
  /** How many an hour one address gets. */
  most: number;
  /** How many of them one account may bring about, if others would otherwise go without. */
  mostByAccount?: number;
  /** Whether the account's share of mails is used up by it: what somebody there can bring about. */
  ofAccount: boolean;
  /** The page that `link` leads to, below the public address. */
  page: (data: Data) => string | undefined;
  /** Whether somebody asked for mails of the kind, and can end that on its page. */
  isSubscribed?: boolean;
  /** With these, templates are tried out at the start. */
  example: Data;
}

const none = () => undefined;
const ofSetting = ({ setting, key }: { setting: string; key: string }) =>
  `notification-settings#token=subscription_${setting}_${key}`;
const KEY = '3f9c'.repeat(16);
const EXPIRES = '2026-11-30 17:00 UTC';

export const MAIL_KINDS: { [Name in MailKind]: Kind<MailData[Name]> } = {
  invitation: {
    most: 5,
    ofAccount: true,
    page: ({ token }) => `accept-invitation#token=${token}`,
    example: { token: 'invitation_7_3f9c', expires: EXPIRES },
  },
  password_reset: {
    most: 3,
    ofAccount: false,
    page: ({ token }) => `reset-password#token=${token}`,
    example: { token: 'reset_7_3f9c', expires: EXPIRES },
  },
  new_login: {
    most: 10,
    ofAccount: false,
    page: none,
    example: { address: '192.0.2.7', program: 'Firefox', time: EXPIRES },
  },
  failed_login: {
    most: 30,
    mostByAccount: 10,
    ofAccount: false,
    page: ofSetting,
    isSubscribed: true,
    example: { user: 'jo@example.com', address: '192.0.2.7', time: EXPIRES, setting: '1', key: KEY },
  },
  second_factor: {
    most: 10,
    ofAccount: false,
    page: none,
    example: { event: 'added', factor: 'Phone', time: EXPIRES },
  },
  deletion_request: {
    most: 30,
    mostByAccount: 6,
    ofAccount: true,
    page: ofSetting,
    isSubscribed: true,
    example: {
      event: 'requested',
      user: 'jo@example.com',
      reason: 'We have moved elsewhere',
      time: EXPIRES,
      setting: '1',
      key: KEY,
    },
  },
  deletion_confirmation: {
    most: 5,
    ofAccount: true,
    page: ({ token }) => `confirm-deletion#token=${token}`,
    example: { token: 'deletion_7_3f9c', expires: EXPIRES },
  },
  webhook_disabled: {
    most: 30,
    ofAccount: true,
    page: none,
    example: {
      webhook: '0f5e3a52-5a0b-4c8b-9d8e-3a1f0c2b7d11',
      host: 'hooks.example.com',
      reason: 'failing',
    },
  },
  invoice: {
    most: 1_000,
    ofAccount: false,
    page: none,
    example: { invoice: '1', number: 'INV-2026-000001', month: '2026-03', amount: '8.85', currency: 'EUR' },
  },
  quota_nearly_used: {
    most: 30,
    ofAccount: true,
    page: none,
    example: { quota: 'vm_count', region: '1', used: '80', limit: '100', percentage: '80' },
  },
};
export const KIND_NAMES = Object.keys(MAIL_KINDS) as MailKind[];
/** What one account may cause in an hour. */
export const MOST_OF_ACCOUNT = 200;

/** The topic that tells workers of a mail to send. */
export const MAILS = 'mails';
/** How long a mail is tried, if it isn't useless before. */
export const SENT_WITHIN_MS = 48 * 3_600_000;
