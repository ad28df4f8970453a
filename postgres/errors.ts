import { OperatorError } from '../src/lib/errors.ts';

/** The embedded PostgreSQL can't run; `message` is for the operator and says what to do about it. */
export class EmbeddedDatabaseError extends OperatorError {}

/** Another Tradewind uses the data folder. */
export class DataDirLockedError extends EmbeddedDatabaseError {
  readonly dataDir: string;
  /** The process id of the other one; undefined if it hasn't written it yet. */
  readonly pid: number | undefined;

  constructor(dataDir: string, pid: number | undefined) {
    const holder = pid === undefined ? 'another Tradewind' : `another Tradewind (process ${pid})`;
    super(
      `The data folder ${dataDir} is in use by ${holder}. Stop that process, or give this one its own folder with TRADEWIND_DATA_DIR.`,
    );
    this.dataDir = dataDir;
    this.pid = pid;
  }
}
