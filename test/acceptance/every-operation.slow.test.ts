import { everyOperationSucceeds } from './every-operation.ts';

await everyOperationSucceeds('/gcore');
