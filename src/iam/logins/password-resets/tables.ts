export interface PasswordResetTables {
  /** How a user who forgot the password may set another, once. */
  password_resets: {
    user_id: number;
    secret_hash: Buffer;
    /** When the user asked for it; a later request or password makes it worthless. */
    asked_at: Date;
    expires_at: Date;
  };
}
