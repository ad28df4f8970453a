/** What is asked of a machine's load: at `from`, and every `stepMs` from there up to `to`. */
export interface LoadQuestion {
  /** The machine, which may be a node of a cluster. */
  machineId: string;
  /** Names of its disks, such as `vda`. */
  disks: readonly string[];
  from: Date;
  to: Date;
  stepMs: number;
}

/** The load of a machine at a time. What is not known is left out; rates are per second. */
export interface MachineLoad {
  time: Date;
  cpuPercent?: number;
  memoryPercent?: number;
  network?: { bytesIn: number; bytesOut: number; packetsIn: number; packetsOut: number };
  /** By the names in the question. */
  disks?: Record<string, { bytesRead: number; bytesWritten: number; reads: number; writes: number }>;
}
