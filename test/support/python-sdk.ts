import { spawn } from 'node:child_process';
import path from 'node:path';
import { pythonClients } from '../../scripts/test-programs.ts';

const SCENARIO = path.join(import.meta.dirname, '../clients/python');

export interface SdkRun {
  code: number | null;
  output: string;
}

/** Runs the scenario of the official Python SDK against a server, or the files and tests of it that are given. */
export function walkWithSdk(environment: Record<string, string | undefined>, only: string[]): Promise<SdkRun> {
  const { python } = pythonClients();
  const args = ['-m', 'pytest', '-q', '-p', 'no:cacheprovider', '--tb=short', ...only];
  const child = spawn(python, args, {
    cwd: SCENARIO,
    env: { PATH: process.env.PATH, PYTHONDONTWRITEBYTECODE: '1', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, output }));
  });
}
