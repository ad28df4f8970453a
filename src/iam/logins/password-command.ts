/** What an operator types to set the password of a user. The address is a stranger's text, which no shell may carry out. */
export function passwordCommand(email: string): string {
  const plain = /^[\w.@+][\w.@+-]*$/.test(email);
  return `tradewind user password --email ${plain ? email : `'${email.replaceAll("'", "'\\''")}'`}`;
}
