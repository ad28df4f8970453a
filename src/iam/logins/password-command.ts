/** What an operator types to set the password of a user. The address is a stranger's text, which no shell may carry out. */
export function passwordCommand(email: string): string {
  const plain = /^[\w.@+][\w.@+-]*$/.test(email);
  return `tradewind user password --email ${plain ? email : `'${email.replaceAll("'", "'\\''")}'`}`;
}

/** Told to whoever gives a user a new password: an address that changed of late may be a stranger's. */
export function formerAddress(user: {
  former_email: string | null;
  email_changed_at: Date | null;
}): string | undefined {
  if (user.former_email === null || user.email_changed_at === null) return undefined;
  const day = user.email_changed_at.toISOString().slice(0, 10);
  return `Until ${day} the address of this user was ${user.former_email}: make sure who asks`;
}
