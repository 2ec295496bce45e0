/* Calls the compiled inner loop of a host function from inside an XLA program.

   One handler of XLA's foreign function interface serves every function: its attribute
   `key` names an entry of a table of this process, which holds the loop. A program never
   holds an address, so that one that another process compiled meets its own function
   under the key, or an error. Everything that the loop takes for granted (numbers of
   buffers, dtypes, shapes, alignment) is checked before it runs.

   XLA's structs are declared here as its C API 0.3 has them; the sizes that XLA writes
   into them are checked at each call. */

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAJOR 0
#define MINOR 3
#define OPERANDS 16 /* of a call */
#define CORES 32    /* core axes of all operands */
#define RANK 32

/* XLA */

typedef struct Extension { size_t struct_size; int type; struct Extension *next; } Extension;
typedef struct { size_t struct_size; Extension *ext; int major, minor; } Version;
typedef struct { size_t struct_size; Version version; uint32_t traits; int64_t type_id; } Metadata;
typedef struct { Extension base; Metadata *metadata; } MetadataExtension;
typedef struct Error Error;
typedef struct { size_t struct_size; Extension *ext; const char *message; int code; } ErrorArgs;
typedef struct { size_t struct_size; Extension *ext; Error *error; } ErrorDestroyArgs;
typedef struct { size_t struct_size; Extension *ext; void *ctx; void (*task)(void *); void *data; } ScheduleArgs;
typedef struct { size_t struct_size; Extension *ext; void *ctx; int64_t *count; } ThreadsArgs;
typedef struct {
  size_t struct_size; Extension *ext; Version version; const void *internal;
  Error *(*create)(ErrorArgs *);
  void *get_message;
  void (*destroy)(ErrorDestroyArgs *);
  void *others[8];
  Error *(*schedule)(ScheduleArgs *);
  Error *(*threads)(ThreadsArgs *);
} Api;
typedef struct { size_t struct_size; Extension *ext; int dtype; void *data; int64_t rank; int64_t *dims; } Buffer;
typedef struct { size_t struct_size; Extension *ext; int64_t size; int *types; void **values; } Values;
typedef struct { const char *ptr; size_t len; } Span;
typedef struct { int dtype; void *value; } Scalar;
typedef struct { size_t struct_size; Extension *ext; int64_t size; int *types; Span **names; void **values; } Attributes;
typedef struct {
  size_t struct_size; Extension *ext; const Api *api; void *ctx; int stage;
  Values args, rets; Attributes attrs;
} Frame;

enum { EXECUTE = 3, BUFFER = 1, SCALAR = 3, S64 = 5, METADATA = 1, INVALID_ARGUMENT = 3, INTERNAL = 13 };

/* Entries: what `loops.py` fills in as `Entry` */

typedef intptr_t ssz;
typedef int StridedLoop(void *context, char *const *data, const ssz *dims, const ssz *strides, void *aux);
typedef void PlainLoop(char **data, const ssz *dims, const ssz *strides, void *aux);

typedef struct {
  int64_t key;
  void *strided, *context, *aux; /* a loop of NumPy, with what it is called with */
  void *plain, *plain_data;      /* else one of the older form */
  int32_t nin, nout;
  int32_t dtypes[OPERANDS];      /* XLA's numbers */
  int32_t sizes[OPERANDS];
  int32_t ncores[OPERANDS];      /* core axes of each operand */
  int32_t cores[CORES];          /* their dimensions, one operand after the other */
  int32_t fixed[CORES];          /* sizes of the dimensions that have one, else -1 */
  int32_t ndims;                 /* distinct core dimensions */
  int32_t splits;                /* whether threads may share a call */
} Entry;

typedef struct { size_t mask; _Atomic(Entry *) slots[]; } Table;
static _Atomic(Table *) TABLE;
static size_t COUNT;
static pthread_mutex_t ADDING = PTHREAD_MUTEX_INITIALIZER;

static Entry *find(int64_t key) {
  Table *table = atomic_load_explicit(&TABLE, memory_order_acquire);
  if (!table) return NULL;
  for (size_t i = (uint64_t)key & table->mask;; i = (i + 1) & table->mask) {
    Entry *entry = atomic_load_explicit(&table->slots[i], memory_order_acquire);
    if (!entry || entry->key == key) return entry;
  }
}

static void insert(Table *table, Entry *entry) {
  size_t i = (uint64_t)entry->key & table->mask;
  while (atomic_load(&table->slots[i])) i = (i + 1) & table->mask;
  atomic_store_explicit(&table->slots[i], entry, memory_order_release);
}

/* A larger table takes the place of a full one, which readers may still hold. */
static int grow(Table *old) {
  size_t size = old ? 2 * (old->mask + 1) : 256;
  Table *table = calloc(1, sizeof(Table) + size * sizeof(table->slots[0]));
  if (!table) return 0;
  table->mask = size - 1;
  for (size_t i = 0; old && i <= old->mask; i++) {
    Entry *entry = atomic_load(&old->slots[i]);
    if (entry) insert(table, entry);
  }
  atomic_store_explicit(&TABLE, table, memory_order_release);
  return 1;
}

/* Adds a copy of an entry: 0, 1 where the key is taken, 2 without memory. */
int rules_core_add(const Entry *entry) {
  int status = 0;
  pthread_mutex_lock(&ADDING);
  Table *table = atomic_load(&TABLE);
  if (find(entry->key)) status = 1;
  else if ((!table || 2 * COUNT > table->mask) && !grow(table)) status = 2;
  else {
    Entry *copy = malloc(sizeof(Entry));
    if (copy) { *copy = *entry; insert(atomic_load(&TABLE), copy); COUNT++; }
    else status = 2;
  }
  pthread_mutex_unlock(&ADDING);
  return status;
}

/* For the check that Python declares the same structs. */
int64_t rules_core_size(int which) { return which ? sizeof(Buffer) : sizeof(Entry); }

/* Python: a loop may take the interpreter lock and set an exception, as NumPy's integer
   powers and some of SciPy's loops do. Threads of XLA get a state of the interpreter that
   outlives the loop, so that no exception is lost; whether one is set is read without the
   lock, from a word of that state whose place is looked for when the library is loaded.
   A thread gets its state without the lock too: whoever takes the backend down holds the
   lock while it waits for XLA's threads. */

typedef struct {
  void *(*this_thread)(void);
  int (*ensure)(void);
  void (*release)(int);
  void *(*occurred)(void);
  void (*clear)(void);
  void (*set)(void *, const char *);
  void *exception; /* any class */
  void (*fetch)(void **, void **, void **);
  void *(*str)(void *);
  const char *(*utf8)(void *);
  void (*decref)(void *);
  void *(*interpreter)(void);
  void *(*new_state)(void *);
} Python;
static Python PYTHON;
static void *INTERPRETER;
static int PLACE = -1;

/* Called with the lock held. Returns the place, -1 where there is none. */
int rules_core_python(const Python *python) {
  enum { WORDS = 32 };
  PYTHON = *python;
  INTERPRETER = PYTHON.interpreter();
  void *before[WORDS], *during[WORDS];
  char *state = PYTHON.this_thread();
  if (!state || PYTHON.occurred()) return -1;
  memcpy(before, state, sizeof before);
  PYTHON.set(PYTHON.exception, "");
  memcpy(during, state, sizeof during);
  PYTHON.clear();
  int place = -1;
  for (int i = 0; i < WORDS; i++) {
    void *after = ((void **)state)[i];
    if (!before[i] && during[i] && !after) { place = i; break; }
  }
  return PLACE = place;
}

/* Gives this thread a state of the interpreter, once. */
static _Thread_local int ENTERED, BORROWED;
static void enter_thread(void) {
  if (ENTERED) return;
  ENTERED = 1;
  if (!PYTHON.this_thread()) {
    BORROWED = 1;
    PYTHON.new_state(INTERPRETER);
  }
}

/* At exit: calls in progress end, and threads of XLA begin no more, for from now on a
   thread that asks for the interpreter lock is ended by Python, and XLA waits for it. */
static _Atomic int RUNNING, LEAVING;

static int begin_call(void) {
  atomic_fetch_add(&RUNNING, 1);
  if (!atomic_load(&LEAVING) || (!BORROWED && PYTHON.this_thread())) return 1;
  atomic_fetch_sub(&RUNNING, 1);
  return 0;
}

static void end_call(void) { atomic_fetch_sub(&RUNNING, 1); }

/* Called without the lock, which a call in progress may need. */
void rules_core_leave(void) {
  const struct timespec pause = {0, 200000};
  atomic_store(&LEAVING, 1);
  while (atomic_load(&RUNNING)) nanosleep(&pause, NULL);
}

static int raised(void) {
  void **state = PYTHON.this_thread();
  return state && state[PLACE];
}

/* The text of the exception that is set, which is cleared. */
static void take_exception(char *text, size_t size) {
  void *type = NULL, *value = NULL, *trace = NULL;
  int lock = PYTHON.ensure();
  PYTHON.fetch(&type, &value, &trace);
  void *shown = value ? PYTHON.str(value) : NULL;
  const char *utf8 = shown ? PYTHON.utf8(shown) : NULL;
  snprintf(text, size, "%s", utf8 ? utf8 : "an exception without a text");
  PYTHON.clear();
  if (shown) PYTHON.decref(shown);
  if (type) PYTHON.decref(type);
  if (value) PYTHON.decref(value);
  if (trace) PYTHON.decref(trace);
  PYTHON.release(lock);
}

/* A call: loop axes in a common order, the longest of them for the loop itself */

enum { TEXT = 400 };

typedef struct {
  const Entry *entry;
  char *text; /* of an exception */
  int operands;
  char *data[OPERANDS];
  ssz dims[1 + CORES];                 /* inner length, core dimensions */
  ssz strides[OPERANDS + CORES];       /* inner strides, core strides */
  int rank;                            /* outer axes */
  ssz outer[RANK];
  ssz steps[RANK][OPERANDS];
  ssz rows;                            /* product of the outer axes */
} Call;

/* Runs the loop on `count` elements of row `row`, from element `start`. */
static int run_row(const Call *call, ssz row, ssz start, ssz count) {
  char *data[OPERANDS];
  ssz dims[1 + CORES];
  const Entry *entry = call->entry;
  memcpy(data, call->data, sizeof(char *) * call->operands);
  for (int axis = call->rank - 1; axis >= 0; axis--) {
    ssz i = row % call->outer[axis];
    row /= call->outer[axis];
    for (int k = 0; k < call->operands; k++) data[k] += i * call->steps[axis][k];
  }
  for (int k = 0; k < call->operands; k++) data[k] += start * call->strides[k];
  memcpy(dims, call->dims, sizeof dims);
  dims[0] = count;
  if (entry->strided)
    return ((StridedLoop *)entry->strided)(entry->context, data, dims, call->strides, entry->aux);
  ((PlainLoop *)entry->plain)(data, dims, call->strides, entry->plain_data);
  return 0;
}

/* XLA flushes subnormal numbers to zero; the loop gets the floating-point state of a
   program in C, as NumPy gives it. On x86 that is one register, which is faster. */
#ifdef __x86_64__
typedef unsigned FloatState;
static void plain_floats(FloatState *saved) {
  *saved = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(0x1f80);
}
static void restore_floats(const FloatState *saved) { __builtin_ia32_ldmxcsr(*saved); }
#else
#include <fenv.h>
typedef fenv_t FloatState;
static void plain_floats(FloatState *saved) {
  fegetenv(saved);
  fesetenv(FE_DFL_ENV);
}
static void restore_floats(const FloatState *saved) { fesetenv(saved); }
#endif

static int run_units(Call *call, ssz unit, ssz first, ssz last) {
  FloatState saved;
  int status = 0;
  ssz parts = (call->dims[0] + unit - 1) / unit;
  enter_thread();
  int before = raised();
  plain_floats(&saved);
  for (ssz i = first; i < last && !status; i++) {
    ssz start = i % parts * unit, left = call->dims[0] - start;
    status = run_row(call, i / parts, start, left < unit ? left : unit);
  }
  restore_floats(&saved);
  if (!before && raised()) {
    take_exception(call->text, TEXT);
    return 1;
  }
  return status;
}

/* Threads share a call in units of a row or of a part of one. Whoever made it works
   too, and waits only for units that others have begun: it never waits for a thread of
   the pool to become free. */

typedef struct {
  Call call;
  ssz unit, units, grain;
  _Atomic ssz next;
  _Atomic int users;
  pthread_mutex_t mutex;
  pthread_cond_t change;
  int working, status;
  char text[TEXT];
} Shared;

static void leave(Shared *shared) {
  if (atomic_fetch_sub(&shared->users, 1) != 1) return;
  pthread_mutex_destroy(&shared->mutex);
  pthread_cond_destroy(&shared->change);
  free(shared);
}

static void work(Shared *shared) {
  ssz first;
  char text[TEXT] = "";
  Call call = shared->call;
  call.text = text;
  while ((first = atomic_fetch_add(&shared->next, shared->grain)) < shared->units) {
    ssz last = first + shared->grain;
    int status = run_units(&call, shared->unit, first, last < shared->units ? last : shared->units);
    if (!status) continue;
    pthread_mutex_lock(&shared->mutex);
    if (!shared->status) memcpy(shared->text, text, TEXT);
    shared->status = status;
    pthread_mutex_unlock(&shared->mutex);
  }
}

static void help(void *data) {
  Shared *shared = data;
  pthread_mutex_lock(&shared->mutex);
  int late = atomic_load(&shared->next) >= shared->units;
  shared->working += !late;
  pthread_mutex_unlock(&shared->mutex);
  if (!late) {
    work(shared);
    pthread_mutex_lock(&shared->mutex);
    shared->working--;
    pthread_cond_signal(&shared->change);
    pthread_mutex_unlock(&shared->mutex);
  }
  leave(shared);
}

static int64_t threads_of(const Frame *frame) {
  int64_t count = 1;
  if (frame->api->struct_size < offsetof(Api, threads) + sizeof(frame->api->threads)) return 1;
  ThreadsArgs args = {sizeof args, NULL, frame->ctx, &count};
  Error *error = frame->api->threads(&args);
  if (error) {
    ErrorDestroyArgs gone = {sizeof gone, NULL, error};
    frame->api->destroy(&gone);
    return 1;
  }
  return count;
}

static int run_shared(const Frame *frame, Call *call, ssz unit, ssz done, ssz units, int64_t threads) {
  Shared *shared = malloc(sizeof(Shared));
  if (!shared) return run_units(call, unit, done, units);
  shared->call = *call;
  shared->unit = unit;
  shared->units = units;
  shared->grain = (units - done) / (8 * threads) + 1;
  atomic_init(&shared->next, done);
  atomic_init(&shared->users, (int)threads);
  pthread_mutex_init(&shared->mutex, NULL);
  pthread_cond_init(&shared->change, NULL);
  shared->working = shared->status = 0;
  for (int64_t i = 1; i < threads; i++) {
    ScheduleArgs args = {sizeof args, NULL, frame->ctx, help, shared};
    Error *error = frame->api->schedule(&args);
    if (error) {
      ErrorDestroyArgs gone = {sizeof gone, NULL, error};
      frame->api->destroy(&gone);
      atomic_fetch_sub(&shared->users, 1);
    }
  }
  work(shared);
  pthread_mutex_lock(&shared->mutex);
  while (shared->working) pthread_cond_wait(&shared->change, &shared->mutex);
  pthread_mutex_unlock(&shared->mutex);
  int status = shared->status;
  if (status) memcpy(call->text, shared->text, TEXT);
  leave(shared);
  return status;
}

static int64_t nanoseconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* A first part is timed: threads share what is worth waking them. */
static int run_call(const Frame *frame, Call *call) {
  enum { UNIT = 2048, WORTH = 200000 };
  ssz unit = UNIT, parts = (call->dims[0] + unit - 1) / unit, units = parts * call->rows;
  ssz head = call->dims[0] < unit ? unit / (call->dims[0] + 1) + 1 : 1;
  if (!call->entry->splits || !frame || units < 2 * head)
    return run_units(call, call->dims[0] ? call->dims[0] : 1, 0, call->rows);
  int64_t start = nanoseconds();
  int status = run_units(call, unit, 0, head);
  if (status) return status;
  double expected = (double)(nanoseconds() - start) / head * (units - head);
  int64_t threads = expected > WORTH ? threads_of(frame) : 1;
  if (threads > 64) threads = 64;
  if (threads > 1) return run_shared(frame, call, unit, head, units, threads);
  return run_units(call, unit, head, units);
}

/* Checks, and the axes of a call */

static const char *set_cores(Call *call, const Buffer *const *buffers) {
  const Entry *entry = call->entry;
  int at = 0;
  for (int d = 0; d < entry->ndims; d++) call->dims[1 + d] = entry->fixed[d];
  for (int k = 0; k < call->operands; k++) {
    int n = entry->ncores[k];
    const int64_t *dims = buffers[k]->dims + buffers[k]->rank - n;
    ssz stride = entry->sizes[k];
    for (int j = n - 1; j >= 0; j--) {
      ssz *size = &call->dims[1 + entry->cores[at + j]];
      if (*size < 0) *size = dims[j];
      if (*size != dims[j]) return "core dimensions that do not agree";
      call->strides[call->operands + at + j] = stride;
      stride *= dims[j];
    }
    at += n;
  }
  return NULL;
}

static ssz product(const int64_t *dims, int64_t count) {
  ssz size = 1;
  while (count-- > 0) size *= dims[count];
  return size;
}

/* Steps of an operand along the loop axes, 0 where it is broadcast. */
static const char *set_steps(const Call *call, const Buffer *buffer, int k, const int64_t *shape,
                             int rank, ssz steps[][OPERANDS]) {
  const Entry *entry = call->entry;
  int cores = entry->ncores[k], own = (int)buffer->rank - cores;
  int output = k >= entry->nin;
  if (own > rank || (output && own != rank)) return "a rank that does not fit";
  ssz step = entry->sizes[k] * product(buffer->dims + own, cores);
  for (int axis = 0; axis < rank; axis++) steps[axis][k] = 0;
  for (int axis = own - 1; axis >= 0; axis--) {
    int64_t size = buffer->dims[axis], want = shape[rank - own + axis];
    if (size != want && (output || size != 1)) return "a shape that does not broadcast";
    if (size == want && (size != 1 || output)) steps[rank - own + axis][k] = step;
    step *= size;
  }
  return NULL;
}

static int joins(ssz steps[][OPERANDS], int outer, int inner, ssz length, int operands) {
  for (int k = 0; k < operands; k++)
    if (steps[outer][k] != steps[inner][k] * length) return 0;
  return 1;
}

/* Axes of length one are left out and neighbours joined; the longest is the loop's. */
static void set_axes(Call *call, const int64_t *shape, int rank, ssz steps[][OPERANDS]) {
  ssz lengths[RANK];
  int n = 0, longest = 0;
  for (int axis = 0; axis < rank; axis++) {
    if (shape[axis] == 1) continue;
    if (n && joins(steps, n - 1, axis, shape[axis], call->operands)) lengths[n - 1] *= shape[axis];
    else lengths[n++] = shape[axis];
    memmove(steps[n - 1], steps[axis], sizeof steps[0]);
  }
  call->rank = 0;
  call->rows = 1;
  call->dims[0] = 1;
  for (int k = 0; k < call->operands; k++) call->strides[k] = call->entry->sizes[k];
  if (!n) return;
  for (int axis = 1; axis < n; axis++)
    if (lengths[axis] >= lengths[longest]) longest = axis;
  for (int axis = 0; axis < n; axis++) {
    if (axis == longest) {
      call->dims[0] = lengths[axis];
      memcpy(call->strides, steps[axis], sizeof(ssz) * call->operands);
      continue;
    }
    call->outer[call->rank] = lengths[axis];
    memcpy(call->steps[call->rank++], steps[axis], sizeof steps[0]);
    call->rows *= lengths[axis];
  }
}

/* Fills in a call. Returns what is wrong, or NULL; `empty` where there is nothing to do. */
static const char *prepare(Call *call, const Entry *entry, const Buffer *const *buffers, int *empty) {
  int operands = entry->nin + entry->nout;
  ssz steps[RANK][OPERANDS];
  call->entry = entry;
  call->operands = operands;
  for (int k = 0; k < operands; k++) {
    const Buffer *buffer = buffers[k];
    if (buffer->struct_size < sizeof(Buffer)) return "buffers of another version";
    if (buffer->dtype != entry->dtypes[k]) return "another dtype";
    if (buffer->rank < entry->ncores[k] || buffer->rank > RANK) return "another rank";
    int part = entry->sizes[k] > 8 ? 8 : entry->sizes[k];
    if ((uintptr_t)buffer->data % part) return "memory that is not aligned";
    call->data[k] = buffer->data;
  }
  const Buffer *out = buffers[entry->nin];
  int rank = (int)out->rank - entry->ncores[entry->nin];
  const char *wrong = set_cores(call, buffers);
  for (int k = 0; k < operands && !wrong; k++)
    wrong = set_steps(call, buffers[k], k, out->dims, rank, steps);
  *empty = product(out->dims, rank) == 0;
  if (!wrong && !*empty) set_axes(call, out->dims, rank, steps);
  return wrong;
}

/* The loop on given buffers without XLA, for the check of NumPy's side. */
int rules_core_try(int64_t key, const Buffer *const *buffers) {
  Call call;
  int empty;
  char text[TEXT];
  const Entry *entry = find(key);
  call.text = text;
  if (!entry || prepare(&call, entry, buffers, &empty)) return 1;
  return empty ? 0 : run_call(NULL, &call);
}

static Error *refuse(const Frame *frame, int code, const char *name, size_t length, const char *text) {
  char message[600];
  snprintf(message, sizeof message, "host function %.*s: %s", (int)length, name, text);
  ErrorArgs args = {sizeof args, NULL, message, code};
  return frame->api->create(&args);
}

static int64_t key_of(const Frame *frame, const char **name, size_t *length) {
  const Attributes *attrs = &frame->attrs;
  *name = "(unnamed)";
  *length = strlen(*name);
  int64_t key = 0;
  for (int64_t i = 0; i < attrs->size; i++) {
    const Span *at = attrs->names[i];
    if (at->len == 3 && !memcmp(at->ptr, "key", 3) && attrs->types[i] == SCALAR) {
      const Scalar *scalar = attrs->values[i];
      if (scalar->dtype == S64) key = *(const int64_t *)scalar->value;
    }
    if (at->len == 4 && !memcmp(at->ptr, "name", 4)) {
      const Span *text = attrs->values[i];
      *name = text->ptr;
      *length = text->len;
    }
  }
  return key;
}

Error *rules_core_native_call(Frame *frame) {
  if (frame->ext && frame->ext->type == METADATA) {
    Metadata *metadata = ((MetadataExtension *)frame->ext)->metadata;
    metadata->version.major = MAJOR;
    metadata->version.minor = MINOR;
    return NULL;
  }
  const Buffer *buffers[OPERANDS];
  const char *name, *wrong;
  size_t length;
  Call call;
  int empty;
  int64_t key = key_of(frame, &name, &length);
  if (frame->stage != EXECUTE || frame->api->version.major != MAJOR ||
      frame->struct_size < offsetof(Frame, attrs) + sizeof(Attributes))
    return refuse(frame, INTERNAL, name, length, "XLA calls it by another version of its interface.");
  const Entry *entry = find(key);
  if (!entry)
    return refuse(frame, INVALID_ARGUMENT, name, length,
                  "the compiled program was made in another process, which knew its address. Compile it "
                  "again here, by a call of the jitted function.");
  if (frame->args.size != entry->nin || frame->rets.size != entry->nout)
    return refuse(frame, INTERNAL, name, length, "a native call with another number of arrays.");
  for (int k = 0; k < entry->nin + entry->nout; k++) {
    const Values *values = k < entry->nin ? &frame->args : &frame->rets;
    int i = k < entry->nin ? k : k - entry->nin;
    if (values->types[i] != BUFFER) return refuse(frame, INTERNAL, name, length, "a native call of no array.");
    buffers[k] = values->values[i];
  }
  wrong = prepare(&call, entry, buffers, &empty);
  if (wrong) {
    char shown[200];
    snprintf(shown, sizeof shown, "a native call with %s.", wrong);
    return refuse(frame, INTERNAL, name, length, shown);
  }
  char text[TEXT] = "its loop failed.";
  call.text = text;
  if (empty) return NULL;
  if (!begin_call())
    return refuse(frame, INTERNAL, name, length, "Python is shutting down, and no call begins any more.");
  int status = run_call(frame, &call);
  end_call();
  if (!status) return NULL;
  return refuse(frame, INTERNAL, name, length, text);
}

/* Loops for functions of numbers, which are given by their address as the loop's data */

#define STEP(i) (data[i] + j * strides[i])
#define GET(T, i) (*(T *)STEP(i))
#define LOOP(NAME, T, N, PARAMETERS, ARGUMENTS)                                             \
  void rules_core_##NAME##N(char **data, const ssz *dims, const ssz *strides, void *f) {    \
    for (ssz j = 0; j < dims[0]; j++) GET(T, N) = ((T(*) PARAMETERS)f)ARGUMENTS;            \
  }
#define LOOPS(NAME, T)                                                                      \
  LOOP(NAME, T, 1, (T), (GET(T, 0)))                                                        \
  LOOP(NAME, T, 2, (T, T), (GET(T, 0), GET(T, 1)))                                          \
  LOOP(NAME, T, 3, (T, T, T), (GET(T, 0), GET(T, 1), GET(T, 2)))                            \
  LOOP(NAME, T, 4, (T, T, T, T), (GET(T, 0), GET(T, 1), GET(T, 2), GET(T, 3)))              \
  LOOP(NAME, T, 5, (T, T, T, T, T), (GET(T, 0), GET(T, 1), GET(T, 2), GET(T, 3), GET(T, 4))) \
  LOOP(NAME, T, 6, (T, T, T, T, T, T),                                                      \
       (GET(T, 0), GET(T, 1), GET(T, 2), GET(T, 3), GET(T, 4), GET(T, 5)))

LOOPS(d, double)
LOOPS(f, float)
