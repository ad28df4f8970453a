/** A value as it was given to the driver; JSON alone can't represent all kinds. */
export type RecordedValue = { kind: 'plain'; value: unknown } | { kind: 'now' } | { kind: 'bytes'; base64: string };

/** One statement that the product sent during one request. */
export interface RecordedStatement {
  /** Name of the prepared statement, if the product uses one. */
  name?: string;
  text: string;
  values: RecordedValue[];
  /** False if it was sent before the previous statements were answered. */
  waited: boolean;
  /** The texts in the first row of its result: later statements may use an id from it. */
  firstRow: Record<string, string>;
}

/** The header that asks the recorder for the statements of a request; its value is the file to write them to. */
export const RECORD_HEADER = 'x-bench-record';
