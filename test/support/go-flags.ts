import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** Flags of a program, by name, with the function of Go's package flag that makes each. */
export type GoFlags = Readonly<Record<string, 'Bool' | 'Duration' | 'Float64' | 'Int' | 'String'>>;

export const whyNoGo =
  spawnSync('go', ['version']).status === 0 ? undefined : 'for want of Go, whose flag parser it asks';
if (whyNoGo !== undefined) console.log(`SKIPPED, ${whyNoGo}`);

let program: string | undefined;

/** Returns what Go's own parser says against arguments, by the name that is given for them; nothing if they are good. */
export function complaints(flags: GoFlags, given: ReadonlyMap<string, readonly string[]>): Record<string, string> {
  program ??= build();
  const input = JSON.stringify({ flags, arguments: Object.fromEntries(given) });
  return JSON.parse(run(program, [], { input }));
}

function build(): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'go-flags-'));
  process.once('exit', () => fs.rmSync(folder, { recursive: true, force: true }));
  fs.writeFileSync(path.join(folder, 'main.go'), PARSER);
  const env = { ...process.env, CGO_ENABLED: '0', GO111MODULE: 'off', GOFLAGS: '' };
  run('go', ['build', '-o', 'parser', 'main.go'], { cwd: folder, env });
  return path.join(folder, 'parser');
}

function run(command: string, args: string[], options: object): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { ...options, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command}: ${error?.message ?? stderr}`);
  return stdout;
}

const PARSER = `package main

import (
	"encoding/json"
	"flag"
	"io"
	"os"
)

func main() {
	var given struct {
		Flags     map[string]string
		Arguments map[string][]string
	}
	if err := json.NewDecoder(os.Stdin).Decode(&given); err != nil {
		panic(err)
	}
	complaints := map[string]string{}
	for name, arguments := range given.Arguments {
		set := flag.NewFlagSet("", flag.ContinueOnError)
		set.SetOutput(io.Discard)
		for name, kind := range given.Flags {
			switch kind {
			case "Bool":
				set.Bool(name, false, "")
			case "Duration":
				set.Duration(name, 0, "")
			case "Float64":
				set.Float64(name, 0, "")
			case "Int":
				set.Int(name, 0, "")
			default:
				set.String(name, "", "")
			}
		}
		if err := set.Parse(arguments); err != nil {
			complaints[name] = err.Error()
		}
	}
	json.NewEncoder(os.Stdout).Encode(complaints)
}
`;
