import { createHash } from 'node:crypto';
import type { LoadQuestion, MachineLoad } from '../contract/load.ts';

const DAY_MS = 86_400_000;
/** How far a day's wave and chance move a figure away from its mean. */
const WAVE = 0.5;
const CHANCE = 0.1;
/** Bytes in a packet, and in a read or write of a disk. */
const PACKET = 800;
const BLOCK = 4096;

/** Returns numbers from 0 to 1, always the same for the same text. */
function numbersOf(text: string): (index: number) => number {
  const digest = createHash('sha256').update(text).digest();
  return (index) => digest.readUInt32BE((index * 4) % digest.length) / 2 ** 32;
}

const between = (low: number, high: number, share: number) => low + (high - low) * share;
const rounded = (value: number, digits = 0) => Math.round(value * 10 ** digits) / 10 ** digits;

/**
 * Returns the load that a machine would have if it had any. The machine's id decides on its means (5 to 45 per cent of
 * CPU, 20 to 80 of memory, up to 100 kB a second and direction, up to 500 kB a second and disk) and on the hour at which
 * its day is at its height. All but memory goes up and down by half over a day, and everything by a tenth by chance,
 * which the id and the time decide on.
 */
export function simulatedLoad({ machineId, disks, from, to, stepMs }: LoadQuestion): MachineLoad[] {
  const own = numbersOf(machineId);
  const means = {
    cpu: between(5, 45, own(0)),
    memory: between(20, 80, own(1)),
    bytesIn: between(1_000, 100_000, own(2)),
    bytesOut: between(1_000, 100_000, own(3)),
  };
  const ofDisks = disks.map((name) => ({
    name,
    mean: between(4_096, 500_000, numbersOf(`${machineId} ${name}`)(0)),
  }));

  function at(time: number): MachineLoad {
    const chance = numbersOf(`${machineId} ${time}`);
    const luck = (index: number) => 1 + CHANCE * (2 * chance(index) - 1);
    const wave = 1 + WAVE * Math.sin(2 * Math.PI * (time / DAY_MS - own(4)));
    const [bytesIn, bytesOut] = [
      rounded(means.bytesIn * wave * luck(2)),
      rounded(means.bytesOut * wave * luck(3)),
    ];
    return {
      time: new Date(time),
      cpuPercent: rounded(means.cpu * wave * luck(0), 2),
      memoryPercent: rounded(means.memory * luck(1), 2),
      network: {
        bytesIn,
        bytesOut,
        packetsIn: rounded(bytesIn / PACKET, 2),
        packetsOut: rounded(bytesOut / PACKET, 2),
      },
      disks: Object.fromEntries(
        ofDisks.map(({ name, mean }, index) => {
          const [bytesRead, bytesWritten] = [
            rounded(mean * wave * luck(4 + index)),
            rounded((mean / 2) * wave * luck(5 + index)),
          ];
          const [reads, writes] = [rounded(bytesRead / BLOCK, 2), rounded(bytesWritten / BLOCK, 2)];
          return [name, { bytesRead, bytesWritten, reads, writes }];
        }),
      ),
    };
  }

  const load: MachineLoad[] = [];
  for (let time = from.getTime(); time <= to.getTime(); time += stepMs) load.push(at(time));
  return load;
}
