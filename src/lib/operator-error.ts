/** Something that the operator has to mend: printed without a stack, since the message says what and how. */
export class OperatorError extends Error {
  override get name(): string {
    return this.constructor.name;
  }
}

/** Settings that can't be used. The message has a line for each, which names it and says what it should be. */
export class SettingError extends OperatorError {}

/** The schema of the database is not for this release. */
export class SchemaError extends OperatorError {}
