// Evaluated before all else of a bundle, so that every module finds these promises.
import { install } from './promise.js';

install();
