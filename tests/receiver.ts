export { startReceiver, type Received, type Receiver } from "../runtime/operations/authors/test-app.ts";
