/** The topic that tells workers of a mail to send. */
export const MAILS = 'mails';
/** How long a mail is tried, if it isn't useless before. */
export const SENT_WITHIN_MS = 48 * 3_600_000;
