import type { SendMailOptions } from 'nodemailer';
import { MAIL_KINDS, type MailData, type MailKind } from '../kinds.ts';
import { plain } from '../plain.ts';
import type { Claimed } from './claims.ts';
import type { Templates } from './templates.ts';

/** How mails present themselves. */
export interface Letterhead {
  /** The sender's address. */
  from: string;
  /** Where people reach the platform, without a slash at the end; undefined if links are of no use. */
  publicUrl: string | undefined;
  templates: Templates;
}

/** Writes a mail. Sent twice after a crash, it has the same ID, so that programs may show it once. */
export function messageOf(
  { from, publicUrl, templates }: Letterhead,
  { id, kind, receiver, created_at, ...claimed }: Claimed,
  data: MailData[MailKind],
): SendMailOptions {
  const [reseller, company] = [plain(claimed.reseller), plain(claimed.company)];
  const page = (MAIL_KINDS[kind].page as (data: object) => string | undefined)(data);
  const link = publicUrl === undefined || page === undefined ? null : `${publicUrl}/${page}`;
  const { subject, text, html } = templates.render(kind, { ...data, reseller, company, link });
  return {
    from: { name: reseller, address: from },
    to: { name: '', address: receiver },
    envelope: { from, to: [receiver] },
    subject,
    text,
    html,
    date: created_at,
    messageId: `<${id}@${from.slice(from.lastIndexOf('@') + 1)}>`,
    headers: {
      // Nobody's out-of-office answer is of use (RFC 3834).
      'Auto-Submitted': 'auto-generated',
      ...(MAIL_KINDS[kind].isSubscribed &&
        link !== null && { 'List-Unsubscribe': { prepared: true, value: `<${link}>` } }),
    },
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}
