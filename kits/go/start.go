package tradewindtest

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

type found struct{ url, token string }

var ready = regexp.MustCompile(`Tradewind is ready at (\S+)`)

// address returns the server that the environment names, or else one with an empty database that is started once.
var address = sync.OnceValues(func() (found, error) {
	url := os.Getenv("TRADEWIND_URL")
	if url == "" {
		url = strings.TrimSuffix(strings.TrimSuffix(os.Getenv("GCORE_BASE_URL"), "/"), "/gcore")
	}
	if url == "" {
		return start()
	}
	token := os.Getenv("TRADEWIND_TOKEN")
	if token == "" {
		token = os.Getenv("GCORE_API_KEY")
	}
	return found{strings.TrimSuffix(url, "/"), token}, nil
})

// launcher runs a server until its own standard input ends, and then removes the server's folder. npx ends before what it has
// started. A shell's background has no standard input of its own.
const launcher = ` serve </dev/null 3<&- & server=$!
{ cat <&3 >/dev/null; kill $server 2>/dev/null; } & watch=$!
wait $server
kill $watch 2>/dev/null
n=0; while [ -e "$0/data/postgres/postmaster.pid" ] && [ $n -lt 60 ]; do sleep 1; n=$((n+1)); done
rm -rf "$0"`

// alive is the other end of the launcher's standard input: it ends with this process, however that ends.
var alive io.WriteCloser

// start starts a server, which ends with the process of the tests.
func start() (found, error) {
	command := os.Getenv("TRADEWIND_COMMAND")
	if command == "" {
		command = "npx --yes tradewind"
	}
	folder, err := os.MkdirTemp("", "tradewind-")
	if err != nil {
		return found{}, err
	}
	token := "1_" + randomHex() + randomHex()
	log, err := os.Create(filepath.Join(folder, "log"))
	if err != nil {
		return found{}, err
	}
	defer log.Close()
	server := exec.Command("sh", "-c", "exec 3<&0\n"+command+launcher, folder)
	if alive, err = server.StdinPipe(); err != nil {
		return found{}, err
	}
	server.Stdout, server.Stderr = log, log
	server.Env = environment(
		[]string{"TRADEWIND_SIMULATION_SPEED=1000", "TRADEWIND_RATE_LIMIT=0", "TRADEWIND_AI_CONCURRENCY=0", "TRADEWIND_DURABILITY=relaxed"},
		[]string{
			"TRADEWIND_TEST_API=true", "TRADEWIND_PORT=0", "TRADEWIND_BOOTSTRAP_TOKEN=" + token,
			"TRADEWIND_DATA_DIR=" + filepath.Join(folder, "data"),
		},
	)
	if err := server.Start(); err != nil {
		return found{}, err
	}
	seconds, err := strconv.ParseFloat(os.Getenv("TRADEWIND_READY_SECONDS"), 64)
	if err != nil {
		seconds = 180
	}
	late := time.After(time.Duration(seconds * float64(time.Second)))
	ended := make(chan struct{})
	go func() { server.Wait(); close(ended) }()
	for {
		said, _ := os.ReadFile(log.Name())
		if match := ready.FindSubmatch(said); match != nil {
			return found{string(match[1]), token}, nil
		}
		select {
		case <-ended:
			return found{}, fmt.Errorf("%q ended:\n%s", command+" serve", bytes.TrimSpace(said))
		case <-late:
			alive.Close()
			return found{}, fmt.Errorf("%q was not ready within %g seconds:\n%s", command+" serve", seconds, bytes.TrimSpace(said))
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// environment returns the environment of this process between what it may replace and what it may not.
func environment(before, after []string) []string {
	all := before
	for _, each := range os.Environ() {
		// A database would be emptied by each reset.
		if !strings.HasPrefix(each, "TRADEWIND_COMMAND=") && !strings.HasPrefix(each, "TRADEWIND_READY_SECONDS=") && !strings.HasPrefix(each, "DATABASE_URL=") {
			all = append(all, each)
		}
	}
	return append(all, after...)
}

func randomHex() string {
	text := make([]byte, 16)
	if _, err := rand.Read(text); err != nil {
		panic(err)
	}
	return hex.EncodeToString(text)
}
