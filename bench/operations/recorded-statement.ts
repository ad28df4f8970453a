/** A value as it was given to the driver; JSON can't carry all kinds by itself. */
export type RecordedValue =
  | { kind: 'plain'; value: unknown }
  | { kind: 'now' }
  | { kind: 'bytes'; base64: string };

/** One statement that the product sent while it answered one request. */
export interface RecordedStatement {
  /** Name of the prepared statement, if the product uses one. */
  name?: string;
  text: string;
  values: RecordedValue[];
  /** False when it was sent before the statements in front of it had been answered. */
  waited: boolean;
  /** The texts in the first row that it answered: later statements may use an id from here. */
  firstRow: Record<string, string>;
}

/** The header that asks the recorder for the statements of a request; its value is the file to write them to. */
export const RECORD_HEADER = 'x-bench-record';
