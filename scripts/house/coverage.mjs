import fs from 'node:fs';
import { Session } from 'node:inspector/promises';

/** Loaded into a server: at each SIGUSR2 it writes the files that have run since the last one to HOUSE_COVERAGE, one a line. */
const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

process.on('SIGUSR2', async () => {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const ran = result.filter(({ functions }) => functions.some(({ ranges: [range] }) => range.count > 0));
  const file = process.env.HOUSE_COVERAGE;
  fs.writeFileSync(`${file}.new`, ran.map(({ url }) => url).join('\n'));
  fs.renameSync(`${file}.new`, file);
});
