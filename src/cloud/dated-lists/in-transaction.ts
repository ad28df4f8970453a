export { type Holder, isFor, resellerOf } from './store.ts';
