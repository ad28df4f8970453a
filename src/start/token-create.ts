import type { Command } from './command.ts';

export const tokenCreate: Command = {
  summary: 'make an API token and print it once',
  help: '',
  options: {},
  run: async () => 0,
};
