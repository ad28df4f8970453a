/**
 * A problem that the operator has to fix: printed without a stack, since the message says what is wrong and
 * how to fix it.
 */
export class OperatorError extends Error {
  override get name(): string {
    return this.constructor.name;
  }
}

/**
 * Settings that can't be used. The message has a line for each, which names the setting and says what it
 * should be.
 */
export class SettingError extends OperatorError {}

/** The database schema does not fit this release. */
export class SchemaError extends OperatorError {}
