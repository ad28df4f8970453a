/**
 * Name patterns of the API. Each is a string for a schema's `pattern`, together with the text that follows
 * "the name" in a sentence for people. All are linear: one bounded or one unbounded repetition, never nested.
 */

/** Security groups, instances, volumes, snapshots, networks, subnets, file shares, projects, images, SSH keys. */
export const NAME_PATTERN = '^[a-zA-Z0-9][a-zA-Z 0-9._\\-]{1,61}[a-zA-Z0-9._]$';
export const NAME_RULE =
  'must be 3 to 63 characters long: letters, digits, spaces, dots, underscores and hyphens, ' +
  'beginning with a letter or digit and ending with a letter, digit, dot or underscore';

/** Kubernetes clusters and pools. */
export const KUBERNETES_NAME_PATTERN = '^[a-z][a-z0-9\\-]{0,18}[a-z0-9]$';
export const KUBERNETES_NAME_RULE =
  'must be 2 to 20 characters long: lower-case letters, digits and hyphens, ' +
  'beginning with a letter and ending with a letter or digit';
