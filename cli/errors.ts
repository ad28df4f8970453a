/** How a command ends; docs/cli.md lists them for scripts. */
export const EXIT = {
  done: 0,
  refused: 1,
  usage: 2,
  unavailable: 3,
  taskFailed: 4,
  timedOut: 5,
  interrupted: 130,
} as const;

/** Ends a command; the message is for a person. */
export class CommandError extends Error {
  readonly exitCode: number;
  /** What the server answered, if it did: problem details (RFC 9457). */
  readonly problem: unknown;
  constructor(message: string, exitCode: number, problem?: unknown) {
    super(message);
    this.exitCode = exitCode;
    this.problem = problem;
  }
}

/** Something is wrong with what was typed, or with a setting. */
export class UsageError extends CommandError {
  constructor(message: string) {
    super(message, EXIT.usage);
  }
}

/** The server doesn't answer, or can't now: the same command may work later. */
export class UnavailableError extends CommandError {
  constructor(message: string, problem?: unknown) {
    super(message, EXIT.unavailable, problem);
  }
}

/** The server has refused the request. */
export class RefusedError extends CommandError {
  constructor(message: string, problem: unknown) {
    super(message, EXIT.refused, problem);
  }
}
