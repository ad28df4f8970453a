/** The topic that tells workers of something to send, and of other webhooks. */
export const WEBHOOKS = 'webhooks';
/** Under this name events are read for webhooks. */
export const READER = 'webhooks';
/** How long something is sent again and again. */
export const DELIVERED_WITHIN_MS = 24 * 3_600_000;
