export { presentPosition, startReading } from './reader.ts';
