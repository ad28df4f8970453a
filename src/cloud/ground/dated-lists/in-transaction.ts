export { type Holder, isFor } from './store.ts';
