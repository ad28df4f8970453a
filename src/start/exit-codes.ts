/** How a command on this machine ends; docs/cli.md lists them. */
export const EXIT_REFUSED = 1;
export const EXIT_USAGE = 2;
