/* Lets a program on a newer processor compute as on one with AVX2 and nothing newer.
 *
 * Libraries ask the processor what it can do by the instruction CPUID and choose their kernels by
 * the answer. Linux can make that instruction fault (arch_prctl, ARCH_SET_CPUID) on processors with
 * "cpuid_fault" in /proc/cpuinfo; the handler here answers it without AVX-512, AMX, VNNI and
 * bfloat16. Loaded by LD_PRELOAD; see processor.py.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define ARCH_SET_CPUID 0x1012
#define BIT(n) (1u << (n))

static void allow_cpuid(long allowed) { syscall(SYS_arch_prctl, ARCH_SET_CPUID, allowed); }

static void answer(int number, siginfo_t *info, void *context) {
    (void)info;
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    const unsigned char *instruction = (const unsigned char *)registers[REG_RIP];
    if (instruction[0] != 0x0f || instruction[1] != 0xa2) { /* a fault of the program's own */
        signal(number, SIG_DFL);
        return;
    }
    unsigned leaf = registers[REG_RAX], part = registers[REG_RCX];
    unsigned a = leaf, b, c = part, d;
    allow_cpuid(1);
    __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
    allow_cpuid(0);
    if (leaf == 7 && part == 0) {
        b &= ~(BIT(16) | BIT(17) | BIT(21) | BIT(26) | BIT(27) | BIT(28) | BIT(30) | BIT(31));
        c &= ~(BIT(1) | BIT(6) | BIT(11) | BIT(12) | BIT(14));        /* VBMI, VNNI, BITALG ... */
        d &= ~(BIT(2) | BIT(3) | BIT(8) | BIT(22) | BIT(23) | BIT(24) | BIT(25)); /* AMX, FP16 */
    } else if (leaf == 7 && part == 1) {
        a &= ~(BIT(4) | BIT(5) | BIT(21) | BIT(23));                  /* AVX-VNNI, BF16, IFMA */
        d = 0;
    } else if (leaf == 0xd && part == 0) {
        a &= 7;                                                       /* no state of AVX-512 */
    } else if (leaf == 0x19 || leaf == 0x1d || leaf == 0x1e || leaf == 0x24) {
        a = b = c = d = 0;                                            /* AMX, AVX10 */
    }
    registers[REG_RAX] = a;
    registers[REG_RBX] = b;
    registers[REG_RCX] = c;
    registers[REG_RDX] = d;
    registers[REG_RIP] += 2;
}

__attribute__((constructor)) static void start(void) {
    struct sigaction action = {0};
    action.sa_sigaction = answer;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGSEGV, &action, NULL);
    if (syscall(SYS_arch_prctl, ARCH_SET_CPUID, 0) != 0) {
        perror("This processor cannot be made to look like an AVX2 one (CPUID faulting)");
        exit(1);
    }
}
