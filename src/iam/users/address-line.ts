/** What the log says of a user who logs in with another address now. */
export function addressLine({ from, to }: { from: string; to: string }): string {
  return `A user changed their address from ${from} to ${to}`;
}
