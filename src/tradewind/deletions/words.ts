/** The topic that tells workers of a new deletion. */
export const DELETIONS = 'deletions';
