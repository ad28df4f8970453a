/** How a command on this machine ends; docs/operate.md and docs/settings.md list them. */
export const EXIT_REFUSED = 1;
export const EXIT_USAGE = 2;
