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
  invoice: { invoice: string; number: string; issuer: string; month: string; amount: string; currency: string };
  budget_reached: {
    budget: string;
    project: string;
    percentage: string;
    amount: string;
    currency: string;
    month: string;
    stops: string;
  };
  quota_nearly_used: { quota: string; region: string; used: string; limit: string; percentage: string };
}
export type MailKind = keyof MailData;

interface Kind<Data> {
  /** For docs/reference/mails.md: who gets it, and when. */
  to: string;
  when: string;
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
    to: 'the invited address',
    when: 'somebody is invited to an account (`POST /iam/clients/invite_user`) or as a seller (`POST /iam/admin/sellers`), or the invitation is renewed',
    most: 5,
    ofAccount: true,
    page: ({ token }) => `accept-invitation#token=${token}`,
    example: { token: 'invitation_7_3f9c', expires: EXPIRES },
  },
  password_reset: {
    to: 'the user',
    when: 'the user forgot the password (`POST /iam/auth/password/forgot`), or an administrator requests the mail (`POST /iam/auth/reset_password`); once an hour',
    most: 3,
    ofAccount: false,
    page: ({ token }) => `reset-password#token=${token}`,
    example: { token: 'reset_7_3f9c', expires: EXPIRES },
  },
  new_login: {
    to: 'the user',
    when: 'the password, and the second factor if one is needed, were used from an address not used for 90 days. Addresses of an IPv6 /64 count as one; the first login sends no mail',
    most: 10,
    ofAccount: false,
    page: none,
    example: { address: '192.0.2.7', program: 'Firefox', time: EXPIRES },
  },
  failed_login: {
    to: "the addresses in the resellers' notification settings of this type",
    when: 'somebody gave a wrong password or second factor for a user of one of their accounts; once an hour for each user',
    most: 30,
    mostByAccount: 10,
    ofAccount: false,
    page: ofSetting,
    isSubscribed: true,
    example: { user: 'jo@example.com', address: '192.0.2.7', time: EXPIRES, setting: '1', key: KEY },
  },
  second_factor: {
    to: 'the user',
    when: 'a second factor was added, removed or reset, or there are new recovery codes',
    most: 10,
    ofAccount: false,
    page: none,
    example: { event: 'added', factor: 'Phone', time: EXPIRES },
  },
  deletion_request: {
    to: "the addresses in the reseller's notification settings of this type",
    when: 'an account asks to be deleted (`POST /tradewind/v1/deletion_request`), confirms it, or withdraws the request (`DELETE`)',
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
    to: 'whoever asks for the deletion',
    when: 'with the request; the token works for two days. `confirmed_at` of the request says whether it was used',
    most: 5,
    ofAccount: true,
    page: ({ token }) => `confirm-deletion#token=${token}`,
    example: { token: 'deletion_7_3f9c', expires: EXPIRES },
  },
  webhook_disabled: {
    to: "the account's first 20 administrators",
    when: 'a webhook is disabled: after five days without a success, or by its receiver (410)',
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
    to: "the e-mail address of the billing profile, or the account's first 20 administrators",
    when: 'an invoice is final; the PDF is attached',
    most: 1_000,
    ofAccount: false,
    page: none,
    example: {
      invoice: '1',
      number: 'INV-2026-000001',
      issuer: 'Northwind',
      month: '2026-03',
      amount: '8.85',
      currency: 'EUR',
    },
  },
  budget_reached: {
    to: "the account's first 20 administrators",
    when: 'a percentage of a budget is spent that its `warn_at` names; once a month each',
    most: 30,
    ofAccount: false,
    page: none,
    example: {
      budget: '1',
      project: '',
      percentage: '80',
      amount: '500.00',
      currency: 'EUR',
      month: '2026-03',
      stops: '',
    },
  },
  quota_nearly_used: {
    to: "the account's first 20 administrators",
    when: 'more than the threshold of a quota is used (80 %, or what `PUT /cloud/v2/client_quotas/{client_id}/notification_threshold` sets); once a day for each quota',
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
